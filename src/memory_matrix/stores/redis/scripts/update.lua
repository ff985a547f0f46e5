-- Changes fields of a record.
-- KEYS: record, index, expiries, namespaces
-- ARGV: token that the record must have or empty, its new token, time to live or 'keep', then field, value, ...
local record, index, expiries, namespaces = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
-- A key of another type ends the script here, before anything is written.
for i = 2, 4 do
  redis.call('ZCARD', KEYS[i])
end
local old = redis.call('HMGET', record, 'member', 'token', 'format')
if not old[1] then
  return {'missing'}
end
if tonumber(old[3] or 1) > FORMAT then
  return {'newer'}
end
if old[2] == ARGV[2] then
  return {'ok'}
end
if ARGV[1] ~= '' and old[2] ~= ARGV[1] then
  return {'changed'}
end
redis.call('HSET', record, 'token', ARGV[2], unpack(ARGV, 4))
if ARGV[3] ~= 'keep' then
  local at, existed = expiry(ARGV[3]), redis.call('EXISTS', expiries) == 1
  if at then
    redis.call('PEXPIREAT', record, at)
    redis.call('ZADD', expiries, at, old[1])
    outlive(expiries, existed, at)
  else
    redis.call('PERSIST', record)
    redis.call('ZREM', expiries, old[1])
  end
  outlive(index, true, at)
  outlive(namespaces, true, at)
end
return {'ok'}
