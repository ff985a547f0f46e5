-- What the scripts of records begin with. A namespace has an index of its records in the order of
-- their creation, and one of those that expire: a member is 16 digits of time and the encoded id.

-- The layout that is written. Records of the first one have no number, and no write ids.
local FORMAT = 2

local function name_of(member)
  return string.sub(member, 17)
end

local function drop_empty(index, namespaces, namespace)
  if redis.call('EXISTS', index) == 0 then
    redis.call('ZREM', namespaces, namespace)
  end
end
