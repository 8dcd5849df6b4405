-- Entries by status, and the admission of the oldest that waits, or ''. Given: none.
local ALL = { 'waiting', 'ready', 'running', 'done', 'superseded', 'cancelled', 'expired', 'dead' }
fetch(statuses, ALL)
local by = {}
for i, status in ipairs(ALL) do by[i] = { status, count(status) } end
local oldest = call('ZRANGE', P .. 'waiting', 0, 0, 'WITHSCORES')
return { by, tonumber(oldest[2]) or '' }
