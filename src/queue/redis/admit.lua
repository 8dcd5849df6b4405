--[[
  Queues work, in order and all or nothing; the table of cases stands in Transitions.ts. An event that was queued before is a
  duplicate and changes nothing, whatever has become of its entry since.

  Given: limit per workspace, limit in all, numbers of the items that are pushes, the event of each item, then apart from these per
  item: the entry if it is a new one and its details, both packed.
  Answers `full`, workspace or '' when a limit would be exceeded; else per item: entry, status, due, events superseded.
]]
local perWorkspace, total, pushes, eventIds, texts = ...
local items, wanted, spaces = {}, {}, {}
for i, event in ipairs(eventIds) do
  local entry = unpacked(texts[2 * i - 1], PLACE)
  items[i] = { entry = entry, event = event, packed = texts[2 * i - 1], details = texts[2 * i] }
  wanted[i], spaces[i] = entry[TARGET], entry[WS]
end
for _, i in ipairs(pushes) do items[i].push = true end
fetch(events, eventIds)
fetch(targets, wanted)
fetch(workspaces, spaces)

local function detailOfItem(item)
  item.detail = item.detail or unpacked(item.details, CHANGE)
  return item.detail
end

local function soundOf(target)
  local waits, running = activeOf(target)
  return sound(waits), sound(running)
end

local function joinsRunning(running, item)
  if not running or running[CANCEL] then return false end
  local detail, runs = detailOfItem(item), detailOf(running)
  return detail[HEAD] and runs[HEAD] == detail[HEAD] and haveSameBase(runs, detail)
end

local many = counts()
local pendingAll = many[COUNTED.waiting] + many[COUNTED.ready]
local near = pendingAll + #items > total
for _, ws in ipairs(spaces) do
  local space = workspace(ws)
  if space[W_LATER] + space[W_DUE] + #space[W_OUT] + #items > perWorkspace then near = true end
end
local function pendingIn(ws)
  local space = workspace(ws)
  local pending = space[W_LATER] + space[W_DUE]
  for _, id in ipairs({ unpack(space[W_OUT]) }) do if indexed(id)[STATUS] == 'ready' then pending = pending + 1 end end
  return pending
end
if near then
  local opening, opens, opensIn = {}, 0, {}
  for _, item in ipairs(items) do
    local e = item.entry
    local waits, running = soundOf(e[TARGET])
    if not opening[e[TARGET]] and not get(events, item.event) and not waits and not joinsRunning(running, item) then
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
local function open(item, earlier, reason)
  local e = item.entry
  local id, admission = e[ID], e[ADMITTED]
  put(events, item.event, id)
  put(details, id, item.details)
  if earlier then
    e[PLACE] = false
    for field, value in pairs(inherited(e, earlier)) do e[field] = value end
    if earlier[DUE] < e[DUE] then
      e[DUE] = earlier[DUE]
      e[REASON] = reason
    end
    local detail, before = detailOfItem(item), detailOf(earlier)
    if before[PERSON] and not detail[PERSON] then
      detail[PERSON] = before[PERSON]
      saveDetail(e, detail)
    end
  end
  rank('ids', id, 0)
  reindex(e, nil, 'waiting')
  if earlier then save(e) else keepPacked(entries, id, e, item.packed) end
  return { id, e[DUE] > admission and 'deferred' or 'queued', e[DUE], '' }
end

local function join(e, item)
  local new, from = item.entry, detailOfItem(item)
  local detail = detailOf(e)
  put(events, item.event, e[ID])
  detail[EVENTS] = joined(detail[EVENTS], item.event)
  saveDetail(e, detail)
  if e[STATUS] == 'running' then return { e[ID], 'coalesced', e[DUE], '' } end
  local backsOff = e[ATTEMPTS] > 0 and not from[PERSON]
  local fields = inherited(e, new)
  fields[ADMITTED] = e[ADMITTED]
  if not backsOff and new[DUE] < e[DUE] then
    fields[DUE] = new[DUE]
    fields[REASON] = new[REASON]
  end
  detail[PERSON] = detail[PERSON] or from[PERSON]
  if not detail[HEAD] then detail[HEAD], detail[CHANGE] = from[HEAD], from[CHANGE] end
  amend(e, fields)
  return { e[ID], 'coalesced', e[DUE], '' }
end

-- The batch of pushes that waits grows by one; the newest change stands for all of it.
local function extend(e, item)
  local detail, from = detailOf(e), detailOfItem(item)
  put(events, item.event, e[ID])
  detail[EVENTS] = joined(detail[EVENTS], item.event)
  detail[HEAD], detail[CHANGE] = from[HEAD], from[CHANGE]
  saveDetail(e, detail)
  return { e[ID], 'coalesced', e[DUE], '' }
end

local function admit(item)
  local before = load(get(events, item.event))
  if before then
    return { before[ID], 'duplicate', before[DUE], before[STATUS] == 'superseded' and item.event or '' }
  end
  local waits, running = soundOf(item.entry[TARGET])
  if not waits and not running then return open(item) end
  if waits and item.push then return extend(waits, item) end
  local head, waitsFor = detailOfItem(item)[HEAD], waits and detailOf(waits)[HEAD]
  local sameHead = waits and waitsFor == head
  if sameHead and (not head or haveSameBase(detailOf(waits), item.detail)) then return join(waits, item) end
  if joinsRunning(running, item) then return join(running, item) end
  if not waits then return open(item) end
  if not waitsFor or not head then return join(waits, item) end
  local reason = waits[REASON]
  waits[REASON] = sameHead and 'the base changed to ' .. baseOf(item.detail) or 'a newer head arrived: ' .. head
  move(waits, 'superseded')
  local answer = open(item, waits, reason)
  answer[4] = detailOf(waits)[EVENTS]
  return answer
end

local answers = {}
for i, item in ipairs(items) do answers[i] = admit(item) end
return answers
