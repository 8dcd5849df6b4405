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
  local e = load(ids[i])
  if (ws == '' or e.ws == ws) and (target == '' or e.target == target) and (not wanted or wanted[e.status]) then
    if #found == limit then return { ids[i - 1], found } end
    found[#found + 1] = whole(e)
  end
end
return { #ids > most and ids[most] or '', found }
