-- Returns a session's own state.
-- KEYS: meta, messages, state, writes
local session, why = look(KEYS[1], KEYS[2], KEYS[3], KEYS[4])
if hopeless(why) then
  return {why}
end
return {'ok', session and redis.call('HGETALL', KEYS[3]) or {}}
