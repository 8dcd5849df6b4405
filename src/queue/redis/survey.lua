--[[
  What the next decision about a workspace can depend on (Queue.survey). Entries that became due move from `later` to their place.
  Given: workspace, now, places. Answers paused (1 or 0), next due time or '', the entries that are out, and where those wait that are due.
]]
local ws, now, places = ...
local later = P .. 'later:' .. ws
local space = workspace(ws)
local function following()
  return space[W_LATER] > 0 and tonumber(call('ZRANGE', later, 0, 0, 'WITHSCORES')[2])
end

local nextAt = following()
-- They wait elsewhere from now on.
local function replace(ids, enter)
  fetch(entries, ids)
  for _, id in ipairs(ids) do
    local e = indexed(id)
    if e[STATUS] == 'waiting' then
      leavePlace(e, space)
      enter(e, space)
      save(e)
    end
  end
  keepWorkspace(ws, space)
  flush()
  seen[ws] = nil
  nextAt = following()
end

if nextAt and nextAt <= now then
  replace(call('ZRANGEBYSCORE', later, '-inf', now, 'LIMIT', 0, 1000), enterDue)
end

local out = {}
local ids = space[W_OUT]
fetch(entries, ids)
for i, id in ipairs(ids) do out[i] = packed(entries, id) end
local free = places - #out

-- Lanes after each other, of each the first that could go: a whole priority, and the next ones while places are left.
local due, early = {}, {}
local lane, found, priority = nil, 0, nil
local from = free > 0 and space[W_DUE] > 0 and '-'
while from do
  local page = from == '-' and seen[ws] and seen[ws].places == places and seen[ws].page or duePage(ws, from, places)
  fetch(targets, targetsOf(page, free, {}))
  from = #page == places and '(' .. page[#page]
  for _, where in ipairs(page) do
    local size = laneEnd(where)
    local itsLane = string.sub(where, 1, size)
    if itsLane ~= lane then
      if priority and priorityAt(where) > priority and #due >= free then
        from = false
        break
      end
      lane, found, priority = itsLane, 0, priorityAt(where)
    end
    if found < free then
      if not isDueAt(where, size, now) then
        early[#early + 1] = idAt(where, size)
      elseif not runsToo(targetAt(where, size)) then
        found = found + 1
        due[#due + 1] = where
      end
    end
  end
  -- The rest of a lane that has given enough.
  if from and found >= free then from = '(' .. lane .. '\1' end
end

-- The clock was set back since they were due.
if #early > 0 then replace(early, enterLater) end

return { get(pauses, 'workspace:' .. ws) and 1 or 0, nextAt or '', out, due }
