-- Returns those keys of a session and of a namespace that are there.
-- KEYS: meta, messages, state, writes, index of records, expiries; ARGV: base of record keys
local found = {}
for _, key in ipairs(KEYS) do
  if redis.call('EXISTS', key) == 1 then
    found[#found + 1] = key
  end
end
for _, member in ipairs(redis.call('ZRANGE', KEYS[5], 0, -1)) do
  local key = ARGV[1] .. string.sub(member, 17)
  if redis.call('EXISTS', key) == 1 then
    found[#found + 1] = key
  end
end
return {'ok', found}
