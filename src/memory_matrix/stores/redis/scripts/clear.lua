-- Deletes a session with all that belongs to it.
-- KEYS: meta, messages, state, writes, index of sessions
local member = redis.call('HGET', KEYS[1], 'member')
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3], KEYS[4])
if member then
  redis.call('ZREM', KEYS[5], member)
end
return {'ok'}
