-- The active entries of a workspace, in the order of their ids. Given: workspace.
local ws = ...
local digits = string.rep('%d', 16)
local place = '^%d%d%d%z[^%z]*%z' .. digits .. '%z' .. string.rep('[%x-]', 36) .. '%z' .. digits .. '%z'
local ids = { unpack(workspace(ws)[W_OUT]) }
for _, id in ipairs(call('ZRANGE', P .. 'later:' .. ws, 0, -1)) do ids[#ids + 1] = id end
for _, where in ipairs(call('ZRANGE', P .. 'due:' .. ws, 0, -1)) do
  if not string.find(where, place) then error('a member of due is not a place', 0) end
  ids[#ids + 1] = idAt(where, laneEnd(where))
end
table.sort(ids)
fetch(entries, ids)
fetch(details, ids)
local answers = {}
for _, id in ipairs(ids) do
  local e = indexed(id)
  if ACTIVE[e[STATUS]] then answers[#answers + 1] = whole(e) end
end
return answers
