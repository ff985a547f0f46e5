-- What the scripts begin with that change a session.
-- KEYS: meta, messages, state, writes, index of sessions
-- ARGV: time to live, session id, time, token, write id, generation that the caller knows, ...
local meta, messages, state, writes, sessions = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local index_existed = redis.call('ZCARD', sessions) > 0
local ttl, name, time, token, write, known = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]

-- How long a write id is remembered that the store made up, in ms, and how many there are at most.
local REPEATS, REMEMBERED = 60000, 2000
-- Scores of write ids that a caller gave begin here, so that made up ones are forgotten first.
local GIVEN = 1e15

local function done_before()
  return write ~= '' and redis.call('ZSCORE', writes, write) ~= false
end

-- Begins the first change of a session that is not there, or goes on with the one that is. The first
-- command that writes must be one that a server without room refuses: it lets all later ones pass.
local function open(session)
  local member = session and session.member or time .. name
  redis.call('ZADD', sessions, 0, member)
  if not session then
    redis.call('DEL', meta, messages, state, writes)
    redis.call('HSET', meta, 'generation', token, 'version', 0, 'member', member)
  end
end

local function remember()
  if write == '' then
    return
  end
  local at = now()
  local given = string.sub(write, 1, 1) == 'c'
  redis.call('ZADD', writes, given and GIVEN + at or at, write)
  redis.call('ZREMRANGEBYSCORE', writes, '-inf', at - REPEATS)
  redis.call('ZREMRANGEBYRANK', writes, 0, -REMEMBERED - 1)
end

-- Ends a change: what the session says of its parts is right again, and all parts expire together.
local function close()
  remember()
  redis.call('ZADD', sessions, 0, redis.call('HGET', meta, 'member'))
  redis.call(
    'HSET', meta, 'format', FORMAT, 'messages', redis.call('LLEN', messages), 'state', redis.call('HLEN', state),
    'writes', redis.call('ZCARD', writes))
  local at = expiry(ttl)
  for _, key in ipairs({meta, messages, state, writes}) do
    if at then
      redis.call('PEXPIREAT', key, at)
    else
      redis.call('PERSIST', key)
    end
  end
  outlive(sessions, index_existed, at)
end
