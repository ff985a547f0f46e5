-- Returns a record's fields.
-- KEYS: record
return {'ok', redis.call('HMGET', KEYS[1], 'member', 'token', 'updated', 'text', 'metadata', 'vector', 'format')}
