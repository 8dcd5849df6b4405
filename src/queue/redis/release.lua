--[[
  waiting -> ready, for entries that are due and whose target has nothing running.
  Given: now, entry ids. Answers the ids it moved.
]]
local now, ids = ...
local moved = {}
for _, id in ipairs(ids) do
  local e = indexed(id)
  if e[STATUS] == 'waiting' and isDue(e, now) and not runsToo(e[TARGET]) then
    move(e, 'ready')
    moved[#moved + 1] = e[ID]
  end
end
return moved
