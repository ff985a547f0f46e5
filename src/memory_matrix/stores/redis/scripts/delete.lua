-- Deletes records, and returns how many were there.
-- KEYS: index, expiries, namespaces
-- ARGV: base of record keys, namespace, then id and the token that it must have or empty, ...
local index, expiries, namespaces, deleted = KEYS[1], KEYS[2], KEYS[3], 0
-- A key of another type ends the script here, before anything is deleted.
for i = 1, 3 do
  redis.call('ZCARD', KEYS[i])
end
for i = 3, #ARGV, 2 do
  redis.call('HLEN', ARGV[1] .. ARGV[i])
end
for i = 3, #ARGV, 2 do
  local old = redis.call('HMGET', ARGV[1] .. ARGV[i], 'member', 'token')
  if old[1] and (ARGV[i + 1] == '' or ARGV[i + 1] == old[2]) then
    redis.call('DEL', ARGV[1] .. ARGV[i])
    redis.call('ZREM', index, old[1])
    redis.call('ZREM', expiries, old[1])
    deleted = deleted + 1
  end
end
drop_empty(index, namespaces, ARGV[2])
return {'ok', deleted}
