--[[
  Entries after one, in the order of their ids, that match; looks at so many at most.
  ARGV: after or '', limit, most to look at, workspace or '', target or '', then statuses (none: all).
  Answers where the next page starts, or '' at the end, and the entries.
]]
local after, limit, most, ws, target = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4], ARGV[5]
local wanted
for i = 6, #ARGV do
  wanted = wanted or {}
  wanted[ARGV[i]] = true
end
local ids = call('ZRANGEBYLEX', P .. 'ids', after == '' and '-' or '(' .. after, '+', 'LIMIT', 0, most + 1)
local found = {}
for i = 1, math.min(#ids, most) do
  local v = call('HMGET', key(ids[i]), 'status', 'ws', 'target')
  if (ws == '' or v[2] == ws) and (target == '' or v[3] == target) and (not wanted or wanted[v[1]]) then
    if #found == limit then return { ids[i - 1], found } end
    found[#found + 1] = whole(ids[i])
  end
end
return { #ids > most and ids[most] or '', found }
