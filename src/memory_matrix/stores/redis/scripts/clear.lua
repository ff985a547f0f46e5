-- Deletes a session with all that belongs to it.
-- KEYS: meta, messages, state, writes, index of sessions, index of their expiries
local member = redis.call('HGET', KEYS[1], 'member')
-- A key of another type ends the script here, before anything is deleted.
redis.call('ZCARD', KEYS[5])
redis.call('ZCARD', KEYS[6])
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3], KEYS[4])
if member then
  redis.call('ZREM', KEYS[5], member)
  redis.call('ZREM', KEYS[6], member)
end
return {'ok'}
