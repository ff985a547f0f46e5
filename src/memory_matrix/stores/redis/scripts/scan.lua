-- Returns fields of the records of a namespace, in the order of their creation, from one on.
-- KEYS: index, expiries, namespaces; ARGV: base of record keys, where to begin, how many or -1, fields...
local from, limit, found = ARGV[2], tonumber(ARGV[3]), {}
local fields = {unpack(ARGV, 4)}
while limit < 0 or #found < limit do
  local members = redis.call('ZRANGEBYLEX', KEYS[1], from, '+', 'LIMIT', 0, limit < 0 and -1 or limit)
  if #members == 0 then
    break
  end
  for _, member in ipairs(members) do
    local record = redis.call('HMGET', ARGV[1] .. name_of(member), 'member', unpack(fields))
    if record[1] == member then
      found[#found + 1] = record
    else
      drop(KEYS[1], KEYS[2], member)
    end
    if #found == limit then
      break
    end
  end
  from = '(' .. members[#members]
end
return {'ok', found}
