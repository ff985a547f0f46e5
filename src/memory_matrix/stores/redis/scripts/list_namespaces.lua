-- Returns the namespaces of a user that hold a record, and drops the others.
-- KEYS: namespaces; ARGV: first, last, and what the keys of indexes, expiries and records begin with
local function holds_any(namespace)
  local index, expiries = ARGV[3] .. namespace, ARGV[4] .. namespace
  local from = '-'
  while true do
    local members = redis.call('ZRANGEBYLEX', index, from, '+', 'LIMIT', 0, 100)
    for _, member in ipairs(members) do
      if redis.call('EXISTS', ARGV[5] .. namespace .. ':' .. name_of(member)) == 1 then
        return true
      end
      drop(index, expiries, member)
    end
    if #members == 0 then
      return false
    end
    from = '(' .. members[#members]
  end
end

local found = {}
for _, namespace in ipairs(redis.call('ZRANGEBYLEX', KEYS[1], ARGV[1], ARGV[2])) do
  if holds_any(namespace) then
    found[#found + 1] = namespace
  else
    redis.pcall('ZREM', KEYS[1], namespace)
  end
end
return {'ok', found}
