--[[
  waiting -> ready, for entries that are due and whose target has nothing running.
  ARGV: now, entry ids. Answers the ids it moved.
]]
local moved = {}
for i = 2, #ARGV do
  local e = load(ARGV[i])
  if e and e.status == 'waiting' and tonumber(e.due) <= tonumber(ARGV[1])
    and not call('HGET', P .. 'running', e.target) then
    move(e, 'ready', {})
    moved[#moved + 1] = e.id
  end
end
return moved
