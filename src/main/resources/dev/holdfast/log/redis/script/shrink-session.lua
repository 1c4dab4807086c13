-- Purges events of a session in one step towards a number of bytes.
-- KEYS session hash
-- ARGV bytes to keep, 'delivered' to remove only complete streams that were delivered, or ''
-- Returns as report-streams.lua, without a client. There may be more to purge if the script has
-- purged something.
if redis.call('EXISTS', KEYS[1], SIZES) < 2 then
  return '0 0 0 '
end
loadTotals({})
giveWay(tonumber(ARGV[1]), {}, currentMillis(), ARGV[2] ~= '')
return savedTotals(hasPurged(), '')
