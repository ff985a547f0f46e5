-- Deletes the messages of one id.
-- ARGV (after those of change): what their encoded form begins with
local session, why = look(meta, messages, state, writes)
if why == 'damaged' then
  return {'damaged'}
end
local begins, deleted = ARGV[7], 0
for first = 0, session and session.count - 1 or -1, 100 do
  for offset, message in ipairs(redis.call('LRANGE', messages, first, first + 99)) do
    if string.sub(message, 1, #begins) == begins then
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
