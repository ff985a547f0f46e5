-- Merges into a session's own state.
-- ARGV (after those of change): field, value, ...
local session, why = look(meta, messages, state, writes)
if hopeless(why) then
  return {why}
end
if known ~= '' and known ~= (session and session.generation or 'none') then
  return {session and 'conflict' or 'gone'}
end
open(session)
for i = 7, #ARGV, 2 do
  redis.call('HSET', state, ARGV[i], ARGV[i + 1])
end
close()
return {'ok'}
