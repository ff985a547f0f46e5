-- What the scripts of records begin with. A namespace has an index of its records in the order of
-- their creation, and one of those that expire: a member is 16 digits of time and the encoded id.

-- The layout that is written. Records of the first one have no number, and no write ids.
local FORMAT = 2

local function name_of(member)
  return string.sub(member, 17)
end

-- Takes out of the indexes what has expired; some at a time, so that no write pays for all.
local function sweep(index, expiries)
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', expiries, '-inf', now(), 'LIMIT', 0, 100)) do
    redis.call('ZREM', index, member)
    redis.call('ZREM', expiries, member)
  end
end

-- Takes what a read finds gone out of the indexes; where the server takes no writes, they stay.
local function drop(index, expiries, member)
  redis.pcall('ZREM', index, member)
  redis.pcall('ZREM', expiries, member)
end

local function drop_empty(index, namespaces, namespace)
  if redis.call('EXISTS', index) == 0 then
    redis.call('ZREM', namespaces, namespace)
  end
end
