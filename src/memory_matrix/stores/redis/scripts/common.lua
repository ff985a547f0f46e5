-- What every script begins with.

-- The server's time in milliseconds.
local function now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- When what is written now expires, or nil; `ttl` is in milliseconds or empty.
local function expiry(ttl)
  return ttl ~= '' and now() + tonumber(ttl) or nil
end

-- Takes out of an index, and of its index of expiries, what has expired; some at a time, so that no
-- write pays for all.
local function sweep(index, expiries)
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', expiries, '-inf', now(), 'LIMIT', 0, 100)) do
    redis.call('ZREM', index, member)
    redis.call('ZREM', expiries, member)
  end
end

-- Takes what a read finds gone out of the indexes; where the server takes no writes, it stays.
local function drop(index, expiries, member)
  redis.pcall('ZREM', index, member)
  redis.pcall('ZREM', expiries, member)
end

-- An index lives as long as the last of what it lists; `existed` says whether it was there before.
local function outlive(index, existed, at)
  if not at then
    redis.call('PERSIST', index)
    return
  end
  local left = redis.call('PTTL', index)
  if existed and left == -1 then
    return
  end
  if left < at - now() then
    redis.call('PEXPIREAT', index, at)
  end
end
