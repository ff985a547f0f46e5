-- Writes a session and a record in the layout of the first release, for tests.
-- KEYS: meta, messages, state, writes, index of sessions, index of their expiries, then index of records,
-- index of their expiries, namespaces, record
-- ARGV: member of the session, member of the record, namespace, time, text, metadata, vector, messages...
for i = 8, #ARGV do
  redis.call('RPUSH', KEYS[2], ARGV[i])
end
redis.call(
  'HSET', KEYS[1], 'generation', 'old', 'version', 1, 'member', ARGV[1], 'messages', #ARGV - 7,
  'state', 0)
redis.call('ZADD', KEYS[5], 0, ARGV[1])
redis.call(
  'HSET', KEYS[10], 'member', ARGV[2], 'token', 'old', 'updated', ARGV[4], 'text', ARGV[5],
  'metadata', ARGV[6], 'vector', ARGV[7])
redis.call('ZADD', KEYS[7], 0, ARGV[2])
redis.call('ZADD', KEYS[9], 0, ARGV[3])
return {'ok'}
