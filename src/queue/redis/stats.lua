-- Entries by status, and the admission of the oldest that waits, or ''. ARGV: none.
local oldest = call('ZRANGE', P .. 'waiting', 0, 0, 'WITHSCORES')
return { call('HGETALL', P .. 'counts'), oldest[2] or '' }
