-- Puts records; all or none.
-- KEYS: index, expiries, namespaces
-- ARGV: base of record keys, namespace, time to live, write id, then for each record: id, created,
-- whether the caller gave that, token, updated, text, metadata, vector
local index, expiries, namespaces = KEYS[1], KEYS[2], KEYS[3]
local base, namespace, ttl, write = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local WRITES = 33 * 64  -- the latest 64 write ids of a record, each of 32 digits and a space
local existed = {}
for i = 1, 3 do
  existed[i] = redis.call('ZCARD', KEYS[i]) > 0
end
-- A key of another type ends the script here, before anything is written.
for i = 5, #ARGV, 8 do
  redis.call('HLEN', base .. ARGV[i])
end

-- The first command that writes is one that a server without room refuses.
redis.call('ZADD', namespaces, 0, namespace)
sweep(index, expiries)
local at = expiry(ttl)
for i = 5, #ARGV, 8 do
  local key, old = base .. ARGV[i], redis.call('HMGET', base .. ARGV[i], 'member', 'writes')
  local seen = old[2] or ''
  if write == '' or not string.find(seen, write, 1, true) then
    local created = ARGV[i + 1]
    if old[1] then
      if ARGV[i + 2] == '' then
        created = string.sub(old[1], 1, 16)
      end
      redis.call('ZREM', index, old[1])
      redis.call('ZREM', expiries, old[1])
      redis.call('DEL', key)
    end
    local member = created .. ARGV[i]
    if write ~= '' then
      seen = string.sub(seen .. write .. ' ', -WRITES)
    end
    redis.call(
      'HSET', key, 'format', FORMAT, 'member', member, 'token', ARGV[i + 3], 'updated', ARGV[i + 4], 'text', ARGV[i + 5],
      'metadata', ARGV[i + 6], 'vector', ARGV[i + 7], 'writes', seen)
    redis.call('ZADD', index, 0, member)
    if at then
      redis.call('PEXPIREAT', key, at)
      redis.call('ZADD', expiries, at, member)
    end
  end
end
outlive(index, existed[1], at)
outlive(namespaces, existed[3], at)
if at then
  outlive(expiries, existed[2], at)
end
return {'ok'}
