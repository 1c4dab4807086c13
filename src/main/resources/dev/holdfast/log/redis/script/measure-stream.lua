-- Measures a stream.
-- KEYS session hash, stream
-- Returns the memory of the stream, or nil if it has no events.
return redis.call('MEMORY', 'USAGE', KEYS[2], 'SAMPLES', 0)
