-- Entries by status, and the admission of the oldest that waits, or ''. ARGV: none.
local by = {}
for _, status in ipairs({ 'waiting', 'ready', 'running', 'done', 'superseded', 'cancelled', 'expired', 'dead' }) do
  by[#by + 1] = status
  by[#by + 1] = tostring(count('counts', status))
end
local oldest = call('ZRANGE', P .. 'waiting', 0, 0, 'WITHSCORES')
return { by, oldest[2] or '' }
