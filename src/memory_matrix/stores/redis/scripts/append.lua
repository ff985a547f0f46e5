-- Appends to a session, or replaces its messages; all or none.
-- ARGV (after those of change): 'append' or 'replace', version that the caller knows, messages...
local session, why = look(meta, messages, state, writes)
if hopeless(why) then
  return {why}
end
if session and done_before() then
  return {'ok', session.generation, session.version}
end
if known ~= '' then
  local generation = session and session.generation or 'none'
  if generation ~= known then
    return {generation == 'none' and 'gone' or 'conflict'}
  end
  if session and session.version ~= ARGV[8] then
    return {'conflict'}
  end
end
if not session and #ARGV < 9 then
  return {'ok', 'none', '0'}
end

open(session)
if ARGV[7] == 'replace' then
  redis.call('DEL', messages)
end
for first = 9, #ARGV, 1000 do
  redis.call('RPUSH', messages, unpack(ARGV, first, math.min(first + 999, #ARGV)))
end
local version = redis.call('HINCRBY', meta, 'version', 1)
close()
return {'ok', redis.call('HGET', meta, 'generation'), tostring(version)}
