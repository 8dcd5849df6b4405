--[[
  ready -> running, for one caller only, with the next fencing token.
  ARGV: entry id, owner, end of the lease. Answers the entry, or nothing.
]]
local e = load(ARGV[1])
if not e or e.status ~= 'ready' or call('HGET', P .. 'running', e.target) then return false end
move(e, 'running', { owner = ARGV[2], lease = ARGV[3], token = string.format('%d', tonumber(e.token) + 1) })
return whole(e)
