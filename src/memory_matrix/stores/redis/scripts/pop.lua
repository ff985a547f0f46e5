-- Removes and returns the newest message.
local session, why = look(meta, messages, state, writes)
if hopeless(why) then
  return {why}
end
if session and done_before() then
  return {'lost'}
end
if not session or session.count == 0 then
  return {'ok'}
end
local popped = redis.call('RPOP', messages)
redis.call('HINCRBY', meta, 'version', 1)
close()
return {'ok', popped}
