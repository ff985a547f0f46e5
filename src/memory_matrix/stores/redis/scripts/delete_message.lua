-- Deletes the messages of one id.
-- ARGV (after those of change): what their encoded form begins with, the id
local session, why = look(meta, messages, state, writes)
if hopeless(why) then
  return {why}
end
local begins, deleted = ARGV[7], 0
local function is_meant(message)
  if string.sub(message, 1, 1) == '{' then  -- as the first layout has it
    return cjson.decode(message).id == ARGV[8]
  end
  return string.sub(message, 1, #begins) == begins
end

for first = 0, session and session.count - 1 or -1, 100 do
  for offset, message in ipairs(redis.call('LRANGE', messages, first, first + 99)) do
    if is_meant(message) then
      -- No message is empty: those that are, are removed below.
      redis.call('LSET', messages, first + offset - 1, '')
      deleted = deleted + 1
    end
  end
end
if deleted > 0 then
  redis.call('LREM', messages, 0, '')
  redis.call('HINCRBY', meta, 'version', 1)
  close()
end
return {'ok', deleted}
