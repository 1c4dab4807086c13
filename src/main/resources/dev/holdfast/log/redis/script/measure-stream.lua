-- Measures a stream: a long one by its first parts.
-- KEYS session hash, stream
-- Returns the memory of the stream, or nil if it has no events.
return redis.call('MEMORY', 'USAGE', KEYS[2], 'SAMPLES', MOST)
