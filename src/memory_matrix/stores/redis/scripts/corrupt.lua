-- Makes one message of a list unreadable.
-- KEYS: messages; ARGV: index
redis.call('LSET', KEYS[1], ARGV[1], 'not what a store writes')
return {'ok'}
