-- What the scripts begin with that change a session.
-- KEYS: meta, messages, state, writes, index of sessions, index of their expiries
-- ARGV: time to live, session id, time, token, write id, generation that the caller knows, ...
local meta, messages, state, writes = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local sessions, expiries = KEYS[5], KEYS[6]
-- A key of another type ends the script here, before anything is written.
local index_existed = redis.call('ZCARD', sessions) > 0
local expiries_existed = redis.call('ZCARD', expiries) > 0
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
    sweep(sessions, expiries)
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
  local member, at = redis.call('HGET', meta, 'member'), expiry(ttl)
  redis.call('ZADD', sessions, 0, member)
  if at then
    redis.call('ZADD', expiries, at, member)
    outlive(expiries, expiries_existed, at)
  else
    redis.call('ZREM', expiries, member)
  end
  redis.call(
    'HSET', meta, 'format', FORMAT, 'messages', redis.call('LLEN', messages), 'state', redis.call('HLEN', state),
    'writes', redis.call('ZCARD', writes))
  for _, key in ipairs({meta, messages, state, writes}) do
    if at then
      redis.call('PEXPIREAT', key, at)
    else
      redis.call('PERSIST', key)
    end
  end
  outlive(sessions, index_existed, at)
end
