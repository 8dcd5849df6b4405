--[[
  Entries after one, in the order of their ids, that match; looks at so many at most.
  Given: after or '', limit, most to look at, workspace or '', target or '', statuses (none: all).
  Answers where the next page starts, or '' at the end, and the entries.
]]
local after, limit, most, ws, target, given = ...
local wanted = {}
for _, status in ipairs(given) do wanted[status] = true end
local ids = call('ZRANGEBYLEX', P .. 'ids', after == '' and '-' or '(' .. after, '+', 'LIMIT', 0, most + 1)
fetch(entries, ids)
local found = {}
for i = 1, math.min(#ids, most) do
  local e = indexed(ids[i])
  if (ws == '' or e[WS] == ws) and (target == '' or e[TARGET] == target) and (#given == 0 or wanted[e[STATUS]]) then
    if #found == limit then return { ids[i - 1], found } end
    found[#found + 1] = whole(e)
  end
end
return { #ids > most and ids[most] or '', found }
