--[[
  Queues work, in order and all or nothing; the table of cases stands in Transitions.ts. An event that was queued before is a
  duplicate and changes nothing, whatever has become of its entry since.

  ARGV: limit per workspace, limit in all, then per item:
    new entry id, event, workspace, target, repo, change, head, person, config, priority, admitted, due, reason, expires
  Answers `full`, workspace or '' when a limit would be exceeded; else per item: entry, status, due, events superseded.
]]
local SIZE = 14
local items = {}
for at = 3, #ARGV, SIZE do
  local function optional(value) if value == '' then return nil end return value end
  items[#items + 1] = {
    id = ARGV[at], event = ARGV[at + 1], ws = ARGV[at + 2], target = ARGV[at + 3], repo = ARGV[at + 4], change = ARGV[at + 5],
    head = optional(ARGV[at + 6]), person = optional(ARGV[at + 7]), config = ARGV[at + 8], prio = ARGV[at + 9],
    admitted = ARGV[at + 10], due = ARGV[at + 11], reason = optional(ARGV[at + 12]), expires = ARGV[at + 13]
  }
end

local function admitted(item)
  local id = call('HGET', P .. 'events', item.event)
  return id and load(id)
end

local function joinsRunning(running, item)
  return running and not running.cancel and item.head and running.head == item.head
end

local perWorkspace, total = tonumber(ARGV[1]), tonumber(ARGV[2])
local pendingAll = count('counts', 'waiting') + count('counts', 'ready')
local pendingIn = {}
local near = pendingAll + #items > total
for _, item in ipairs(items) do
  pendingIn[item.ws] = pendingIn[item.ws] or count('pending', item.ws)
  if pendingIn[item.ws] + #items > perWorkspace then near = true end
end
if near then
  local opening, opens, opensIn = {}, 0, {}
  for _, item in ipairs(items) do
    if not opening[item.target] and not admitted(item) and not call('HGET', P .. 'next', item.target)
      and not joinsRunning(runningOf(item.target), item) then
      opening[item.target] = true
      opens = opens + 1
      opensIn[item.ws] = (opensIn[item.ws] or 0) + 1
    end
  end
  for ws, n in pairs(opensIn) do
    if pendingIn[ws] + n > perWorkspace then return { 'full', ws } end
  end
  if opens > 0 and pendingAll + opens > total then return { 'full', '' } end
end

local function open(item, earlier)
  local e = {
    id = item.id, status = 'waiting', ws = item.ws, target = item.target, repo = item.repo, head = item.head,
    person = item.person, config = item.config, prio = item.prio, admitted = item.admitted, due = item.due,
    expires = item.expires, reason = item.reason, attempts = '0', losses = '0', token = '0', events = item.event
  }
  if earlier then
    local taken = inherited(e, earlier)
    if tonumber(earlier.due) < tonumber(e.due) then
      e.due = earlier.due
      e.reason = earlier.reason
    end
    for name, value in pairs(taken) do e[name] = value or nil end
  end
  save(e)
  call('SET', changeKey(e.id), item.change)
  call('ZADD', P .. 'ids', 0, e.id)
  call('HSET', P .. 'events', item.event, e.id)
  reindex(e, nil, 'waiting')
  indexWaiting(e)
  return { e.id, tonumber(e.due) > tonumber(item.admitted) and 'deferred' or 'queued', e.due, '' }
end

local function join(e, item)
  call('HSET', P .. 'events', item.event, e.id)
  local events = e.events and e.events .. '\n' .. item.event or item.event
  if e.status == 'running' then
    set(e, { events = events })
    return { e.id, 'coalesced', e.due, '' }
  end
  local backsOff = tonumber(e.attempts) > 0 and not item.person
  local fields = inherited(e, { prio = item.prio, admitted = e.admitted, expires = item.expires, person = item.person })
  fields.events = events
  if not backsOff and tonumber(item.due) < tonumber(e.due) then
    fields.due = item.due
    fields.reason = item.reason or false
  end
  if not e.head then
    call('SET', changeKey(e.id), item.change)
    fields.head = item.head or false
  end
  amend(e, fields)
  return { e.id, 'coalesced', e.due, '' }
end

-- The batch of pushes that waits grows by one; the newest change stands for all of it.
local function extend(e, item)
  call('HSET', P .. 'events', item.event, e.id)
  amend(e, { events = e.events and e.events .. '\n' .. item.event or item.event, change = item.change, head = item.head or false })
  return { e.id, 'coalesced', e.due, '' }
end

local function admit(item)
  local before = admitted(item)
  if before then
    return { before.id, 'duplicate', before.due, before.status == 'superseded' and item.event or '' }
  end
  local waits = nextOf(item.target)
  if waits and cjson.decode(item.change).target.kind == 'push' then return extend(waits, item) end
  if waits and waits.head == item.head then return join(waits, item) end
  local running = runningOf(item.target)
  if joinsRunning(running, item) then return join(running, item) end
  if not waits then return open(item) end
  if not waits.head or not item.head then return join(waits, item) end
  move(waits, 'superseded', { reason = 'a newer head arrived: ' .. item.head })
  local answer = open(item, waits)
  answer[4] = waits.events
  return answer
end

local answers = {}
for i, item in ipairs(items) do answers[i] = admit(item) end
return answers
