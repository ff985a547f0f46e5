-- Lets the time to live of the keys that have one pass.
-- KEYS: keys of one slot
for _, key in ipairs(KEYS) do
  if redis.call('PTTL', key) >= 0 then
    redis.call('PEXPIREAT', key, 1)
  end
end
return {'ok'}
