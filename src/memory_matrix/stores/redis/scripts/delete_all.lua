-- Deletes all records of a namespace, and returns how many there were.
-- KEYS: index, expiries, namespaces; ARGV: base of record keys, namespace
-- A key of another type ends the script here, before anything is deleted.
for i = 1, 3 do
  redis.call('ZCARD', KEYS[i])
end
local deleted = 0
for _, member in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  deleted = deleted + redis.call('DEL', ARGV[1] .. name_of(member))
end
redis.call('DEL', KEYS[1], KEYS[2])
redis.call('ZREM', KEYS[3], ARGV[2])
return {'ok', deleted}
