--[[
  Queues work, in order and all or nothing; the table of cases stands in Transitions.ts. An event that was queued before is a
  duplicate and changes nothing, whatever has become of its entry since.

  Given: limit per workspace, limit in all, numbers of the items that are pushes, then apart from these per item: the entry if it is
  a new one, packed, and its change.
  Answers `full`, workspace or '' when a limit would be exceeded; else per item: entry, status, due, events superseded.
]]
local perWorkspace, total, pushes, texts = ...
local items = {}
for at = 1, #texts, 2 do
  items[#items + 1] = { entry = unpacked(texts[at], PLACE), packed = texts[at], change = texts[at + 1] }
end
for _, i in ipairs(pushes) do items[i].push = true end
local function each(field)
  local values = {}
  for i, item in ipairs(items) do values[i] = item.entry[field] end
  return values
end
fetch(events, each(EVENTS))
fetch(nexts, each(TARGET))
fetch(runs, each(TARGET))
fetch(workspaces, each(WS))

local function admitted(e) return load(get(events, e[EVENTS])) end

local function joinsRunning(running, e)
  return running and not running[CANCEL] and e[HEAD] and running[HEAD] == e[HEAD]
end

fetch(statuses, { 'waiting', 'ready' })
local pendingAll = count('waiting') + count('ready')
local near = pendingAll + #items > total
for _, item in ipairs(items) do
  local space = workspace(item.entry[WS])
  if space[W_LATER] + space[W_DUE] + #space[W_OUT] + #items > perWorkspace then near = true end
end
local function pendingIn(ws)
  local space = workspace(ws)
  local pending = space[W_LATER] + space[W_DUE]
  for _, id in ipairs(space[W_OUT]) do if load(id)[STATUS] == 'ready' then pending = pending + 1 end end
  return pending
end
if near then
  local opening, opens, opensIn = {}, 0, {}
  for _, item in ipairs(items) do
    local e = item.entry
    if not opening[e[TARGET]] and not admitted(e) and not get(nexts, e[TARGET])
      and not joinsRunning(runningOf(e[TARGET]), e) then
      opening[e[TARGET]] = true
      opens = opens + 1
      opensIn[e[WS]] = (opensIn[e[WS]] or 0) + 1
    end
  end
  for ws, n in pairs(opensIn) do
    if pendingIn(ws) + n > perWorkspace then return { 'full', ws } end
  end
  if opens > 0 and pendingAll + opens > total then return { 'full', '' } end
end

-- `earlier` is the entry that it replaces, `reason` why that waited.
local function open(e, item, earlier, reason)
  put(events, e[EVENTS], e[ID])
  local admission = e[ADMITTED]
  if earlier then
    e[PLACE] = false
    for field, value in pairs(inherited(e, earlier)) do e[field] = value end
    if earlier[DUE] < e[DUE] then
      e[DUE] = earlier[DUE]
      e[REASON] = reason
    end
  end
  put(changes, e[ID], item.change)
  rank('ids', e[ID], 0)
  reindex(e, nil, 'waiting')
  save(e)
  if not earlier then put(entries, e[ID], item.packed) end
  return { e[ID], e[DUE] > admission and 'deferred' or 'queued', e[DUE], '' }
end

local function join(e, item, change)
  put(events, item[EVENTS], e[ID])
  local joined = e[EVENTS] == '' and item[EVENTS] or e[EVENTS] .. '\n' .. item[EVENTS]
  if e[STATUS] == 'running' then
    e[EVENTS] = joined
    save(e)
    return { e[ID], 'coalesced', e[DUE], '' }
  end
  local backsOff = e[ATTEMPTS] > 0 and not item[PERSON]
  local fields = inherited(e, item)
  fields[ADMITTED] = e[ADMITTED]
  fields[EVENTS] = joined
  if not backsOff and item[DUE] < e[DUE] then
    fields[DUE] = item[DUE]
    fields[REASON] = item[REASON]
  end
  if not e[HEAD] then
    put(changes, e[ID], change)
    fields[HEAD] = item[HEAD]
  end
  amend(e, fields)
  return { e[ID], 'coalesced', e[DUE], '' }
end

-- The batch of pushes that waits grows by one; the newest change stands for all of it.
local function extend(e, item, change)
  put(events, item[EVENTS], e[ID])
  put(changes, e[ID], change)
  amend(e, { [EVENTS] = e[EVENTS] == '' and item[EVENTS] or e[EVENTS] .. '\n' .. item[EVENTS], [HEAD] = item[HEAD] })
  return { e[ID], 'coalesced', e[DUE], '' }
end

local function admit(item)
  local e, change = item.entry, item.change
  local before = admitted(e)
  if before then
    return { before[ID], 'duplicate', before[DUE], before[STATUS] == 'superseded' and e[EVENTS] or '' }
  end
  local waits = nextOf(e[TARGET])
  if waits and item.push then return extend(waits, e, change) end
  if waits and waits[HEAD] == e[HEAD] then return join(waits, e, change) end
  local running = runningOf(e[TARGET])
  if joinsRunning(running, e) then return join(running, e, change) end
  if not waits then return open(e, item) end
  if not waits[HEAD] or not e[HEAD] then return join(waits, e, change) end
  local reason = waits[REASON]
  waits[REASON] = 'a newer head arrived: ' .. e[HEAD]
  move(waits, 'superseded')
  local answer = open(e, item, waits, reason)
  answer[4] = waits[EVENTS]
  return answer
end

local answers = {}
for i, item in ipairs(items) do answers[i] = admit(item) end
return answers
