-- Returns members of the index whose sessions are there, from one on, and drops the others.
-- KEYS: index of sessions
-- ARGV: where to begin, how many or -1, what the keys of meta, messages, state and writes begin with
local from, limit, live = ARGV[1], tonumber(ARGV[2]), {}
while limit < 0 or #live < limit do
  local members = redis.call('ZRANGEBYLEX', KEYS[1], from, '+', 'LIMIT', 0, 100)
  if #members == 0 then
    break
  end
  for _, member in ipairs(members) do
    local name = string.sub(member, 17)
    local session, why = look(ARGV[3] .. name, ARGV[4] .. name, ARGV[5] .. name, ARGV[6] .. name)
    if why == 'damaged' or session and session.member == member then
      if limit < 0 or #live < limit then
        live[#live + 1] = member
      end
    else
      redis.pcall('ZREM', KEYS[1], member)
    end
  end
  from = '(' .. members[#members]
end
return {'ok', live}
