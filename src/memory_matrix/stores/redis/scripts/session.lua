-- What the scripts of a session begin with.

-- The layout that is written. Sessions of the first one have no number, and no write ids.
local FORMAT = 2

-- Returns the session's fields, or why there are none: 'none', 'expired' (a part is left that will
-- expire too), 'damaged' (a part is gone that could not expire) or 'newer' (of a later release).
local function look(meta, messages, state, writes)
  local has = {redis.call('LLEN', messages), redis.call('HLEN', state), redis.call('ZCARD', writes)}
  local said = redis.call(
    'HMGET', meta, 'messages', 'state', 'writes', 'generation', 'version', 'member', 'format')
  if tonumber(said[7] or 1) > FORMAT then
    return nil, 'newer'
  end
  local whole = said[4] ~= false
  for i = 1, 3 do
    whole = whole and tonumber(said[i] or 0) == has[i]
  end
  if whole then
    return {count = has[1], generation = said[4], version = said[5], member = said[6]}
  end
  if not said[4] and has[1] + has[2] + has[3] == 0 then
    return nil, 'none'
  end
  for _, key in ipairs({meta, messages, state, writes}) do
    if redis.call('PTTL', key) >= 0 then
      return nil, 'expired'
    end
  end
  return nil, 'damaged'
end

-- Returns whether nothing can be done with a session for the reason that `look` gave.
local function hopeless(why)
  return why == 'damaged' or why == 'newer'
end
