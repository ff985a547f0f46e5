-- Returns a session's generation, version, number of messages, and the newest of them.
-- KEYS: meta, messages, state, writes
-- ARGV: how many messages, or -1 for all
local session, why = look(KEYS[1], KEYS[2], KEYS[3], KEYS[4])
if hopeless(why) then
  return {why}
end
if not session then
  return {'ok', 'none', '0', 0, {}}
end
local limit = tonumber(ARGV[1])
local found = {}
if limit ~= 0 then
  found = redis.call('LRANGE', KEYS[2], limit < 0 and 0 or -limit, -1)
end
return {'ok', session.generation, session.version, session.count, found}
