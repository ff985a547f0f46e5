-- Returns a state that sessions share.
-- KEYS: hash
return {'ok', redis.call('HGETALL', KEYS[1])}
