-- Returns members of the index whose sessions are there, from one on, and drops the others.
-- KEYS: index of sessions, index of their expiries
-- ARGV: where to begin, how many, what the keys of meta, messages, state and writes begin with
local from, limit, live = ARGV[1], tonumber(ARGV[2]), {}
while #live < limit do
  local members = redis.call('ZRANGEBYLEX', KEYS[1], from, '+', 'LIMIT', 0, 100)
  if #members == 0 then
    break
  end
  for _, member in ipairs(members) do
    local name = string.sub(member, 17)
    local session, why = look(ARGV[3] .. name, ARGV[4] .. name, ARGV[5] .. name, ARGV[6] .. name)
    if hopeless(why) or session and session.member == member then
      live[#live + 1] = member
    else
      drop(KEYS[1], KEYS[2], member)
    end
    if #live == limit then
      break
    end
  end
  from = '(' .. members[#members]
end
return {'ok', live}
