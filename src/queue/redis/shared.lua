--[[
  Entries and how they are found, for the transitions. Two hashes have a packed array per entry, as the constants below name its
  places (RedisEntry.ts has the same); what is undefined is false there. `entries` has what transitions look at and change, which is
  little, since each reads and writes all of it: Lua hashes every byte of a text that it is given. `details` has the rest, the change as
  JSON (ChangeRow.ts) among it, which an admission that joins looks at and answers with whole entries. All else is index:

    events     HASH  event id -> entry id, also of ended entries
    targets    HASH  target -> ids of its active entries, joined: at most one that waits or is ready, and at most one that runs
    workspaces HASH  those with active entries -> packed: how many are in `later` and in `due`, ids of ready and running ones; and '',
                     which is no workspace -> packed: how many entries have each status, read and written with the workspaces
    later:<w>  ZSET  waiting ones by due time, until a survey finds them due
    due:<w>    ZSET  waiting and due ones by priority, repository and admission; all have score 0 (see `place`)
    begun      LIST  ids of those that began to wait since somebody looked for the oldest (`settle`): most of them no longer do then
    waiting    ZSET  the others that wait by admission, and those that did until that look finds that they do not (stats.lua)
    expiring   ZSET  waiting ones that may expire, by admission
    ended      ZSET  ended ones by admission
    ids        ZSET  all, in the order of their ids
    pauses     HASH  `<scope>:<name>` -> JSON
    layout     STRING  the version of all this (RedisLayout.ts)

  All keys start with KEYS[1], which holds a hash tag: they are in one slot of a cluster. A script runs alone and whole, so each
  transition in it is atomic; with an append-only file that is synced always, what was answered is on disk.
]]
local ID, STATUS, TARGET, REPO, PRIO, ADMITTED, DUE, WS, EXPIRES = 1, 2, 3, 4, 5, 6, 7, 8, 9
local REASON, ATTEMPTS, LOSSES, TOKEN, OWNER, LEASE, CANCEL, PLACE = 10, 11, 12, 13, 14, 15, 16, 17
local CONFIG, HEAD, PERSON, EVENTS, CHANGE = 1, 2, 3, 4, 5
-- In the row of a change.
local BASE_REF = 15

local entries, details, workspaces = records('entries', PLACE), records('details', CHANGE), records('workspaces', 3)
local events, targets = hash('events'), hash('targets')
local pauses = hash('pauses')

local OUT = { ready = true, running = true }
local ACTIVE = { waiting = true, ready = true, running = true }
-- Where the counts of the statuses are.
local COUNTED = { waiting = 1, ready = 2, running = 3, done = 4, superseded = 5, cancelled = 6, expired = 7, dead = 8 }

-- Raises when a record is not that of the entry; false when there is none.
local NUMBERS, TEXTS = { PRIO, ADMITTED, DUE, ATTEMPTS, LOSSES, TOKEN }, { TARGET, REPO, WS }
local function readEntry(id)
  local e = look(entries, id)
  if not e then return e end
  if e[ID] ~= id then error('it has the id of another', 0) end
  if not COUNTED[e[STATUS]] then error('its status is unknown', 0) end
  for _, at in ipairs(NUMBERS) do if type(e[at]) ~= 'number' then error('value ' .. at .. ' is not a number', 0) end end
  for _, at in ipairs(TEXTS) do if type(e[at]) ~= 'string' then error('value ' .. at .. ' is not a text', 0) end end
  return e
end

-- Ends an entry that cannot be read (quarantine.lua). Returns it as it is from then on.
local quarantine

-- The entry, or false when there is none. One that cannot be read is quarantined: it is dead, and its caller skips it like other dead ones.
local function load(id)
  if not id then return false end
  local e = entries.tables[id]
  if e == nil then
    local readable, found = pcall(readEntry, id)
    e = readable and found
    if not readable then e = quarantine(id, found) end
  end
  return e
end
-- The entry of an id that an index has. One without a record is quarantined too.
local function indexed(id) return load(id) or quarantine(id, 'its record is missing') end
local function save(e) keep(entries, e[ID], e) end

local function readDetail(id)
  local detail = look(details, id)
  if not detail then error('its details are missing', 0) end
  if type(detail[EVENTS]) ~= 'string' or type(detail[CHANGE]) ~= 'string' then error('its details have other values', 0) end
  return detail
end
-- Of details that cannot be read nothing is known, until somebody looks at the whole entry.
local function detailOf(e)
  local readable, detail = pcall(readDetail, e[ID])
  return readable and detail or { '', false, false, '', '[]' }
end

local ID_SIZE = 36
-- Finds the active entries of a target again (damage.lua).
local retarget
-- The one that waits or is ready, and the one that runs.
local function activeOf(target)
  local ids = get(targets, target) or ''
  local waits, runs = false, false
  for at = 1, #ids, ID_SIZE do
    local e = load(string.sub(ids, at, at + ID_SIZE - 1))
    if not e then
      retarget(target)
      return activeOf(target)
    end
    if e[STATUS] == 'running' then runs = e elseif ACTIVE[e[STATUS]] then waits = e end
  end
  return waits, runs
end
-- Those of which the details can be read too.
local function sound(e)
  if not e then return false end
  local readable, why = pcall(readDetail, e[ID])
  if readable then return e end
  quarantine(e[ID], why)
  return false
end
local function nextOf(target) return sound((activeOf(target))) end
-- Of a target of which one waits: whether another runs.
local function runsToo(target)
  local ids = get(targets, target)
  return ids and #ids > ID_SIZE
end
local function activate(e)
  put(targets, e[TARGET], (get(targets, e[TARGET]) or '') .. e[ID])
end
local function deactivate(e)
  local ids, id = get(targets, e[TARGET]), e[ID]
  if not ids then return end
  local one = ids ~= id and string.sub(ids, 1, ID_SIZE)
  put(targets, e[TARGET], one == id and string.sub(ids, ID_SIZE + 1) or one)
end

-- What begins to wait.
local begun = {}
-- Ids of entries that were quarantined, and whether the statuses that some of them had are unknown.
local quarantined, uncounted = {}, false
-- Sentences about indexes that were rebuilt (damage.lua).
local rebuilt = {}
local recount

-- A packed array of so many numbers, or nil.
local function numbers(text, size)
  local readable, found = pcall(unpacked, text, size)
  if not readable or string.byte(text) ~= 144 + size then return nil end
  for i = 1, size do if type(found[i]) ~= 'number' then return nil end end
  return found
end
-- How many entries have each status: by these places, and what this script adds.
local added = {}
local function add(status, by) added[status] = (added[status] or 0) + by end
local function counts()
  local before = get(workspaces, '')
  local many = before and numbers(before, 8)
  if before and not many and not uncounted then
    uncounted = true
    rebuilt[#rebuilt + 1] = 'the number of entries of each status could not be read'
  end
  many = many or { 0, 0, 0, 0, 0, 0, 0, 0 }
  for status, by in pairs(added) do many[COUNTED[status]] = many[COUNTED[status]] + by end
  return many
end

-- Writes all that has changed.
local function write()
  if next(added) then
    put(workspaces, '', pack(counts()))
    added = {}
  end
  send('RPUSH', P .. 'begun', begun)
  begun = {}
  flush()
  if uncounted then recount() end
end
-- Forgets it.
local function abandon()
  added, begun, quarantined, uncounted, rebuilt = {}, {}, {}, false, {}
  discard()
end

local W_LATER, W_DUE, W_OUT = 1, 2, 3
local function readSpace(name)
  local space = look(workspaces, name)
  if space and (type(space[W_LATER]) ~= 'number' or type(space[W_DUE]) ~= 'number' or type(space[W_OUT]) ~= 'table') then
    error('its record has other values', 0)
  end
  return space
end
-- Makes the record and the indexes of a workspace anew (damage.lua).
local rebuild
local function workspace(name)
  local space = workspaces.tables[name]
  if space == nil then
    local readable, found = pcall(readSpace, name)
    space = found
    if not readable then space = rebuild(name, found) end
  end
  return space or { 0, 0, {} }
end
local function keepWorkspace(name, space)
  keep(workspaces, name, space[W_LATER] + space[W_DUE] + #space[W_OUT] > 0 and space)
end

-- As domain/Entry.ts has it: what was due when it was admitted stays due.
local function isDueAtOnce(e) return e[DUE] <= e[ADMITTED] end
local function isDue(e, now) return e[DUE] <= now or isDueAtOnce(e) end

-- Where a due entry waits: first its lane, which is priority and repository, then its admission; and all that a survey wants to know.
local function place(e)
  return string.format('%03d\0', e[PRIO]) .. e[REPO] .. string.format('\0%016d\0', e[ADMITTED]) .. e[ID]
    .. string.format('\0%016d\0', e[DUE]) .. e[TARGET]
end
-- Where the lane ends; what follows has its place behind that.
local function laneEnd(where) return string.find(where, '\0', 5, true) - 1 end
local function priorityAt(where) return tonumber(string.sub(where, 1, 3)) end
local ADMITTED_AT, ID_AT, DUE_AT, TARGET_AT = 2, 19, 56, 73
local function timeAt(where, at) return tonumber(string.sub(where, at, at + 15)) end
local function idAt(where, lane) return string.sub(where, lane + ID_AT, lane + ID_AT + ID_SIZE - 1) end
local function targetAt(where, lane) return string.sub(where, lane + TARGET_AT) end
local function isDueAt(where, lane, now)
  local due = timeAt(where, lane + DUE_AT)
  return due <= now or due <= timeAt(where, lane + ADMITTED_AT)
end

-- Pages that surveys will ask for, by workspace.
local seen = {}
local function duePage(ws, from, size) return call('ZRANGEBYLEX', P .. 'due:' .. ws, from, '+', 'LIMIT', 0, size) end
-- The targets of the first so many of a page, besides others.
local function targetsOf(page, most, wanted)
  for i = 1, math.min(most, #page) do wanted[#wanted + 1] = targetAt(page[i], laneEnd(page[i])) end
  return wanted
end

-- `space` is the workspace of the entry, which the caller keeps.
local function enterDue(e, space)
  e[PLACE] = e[PLACE] or place(e)
  rank('due:' .. e[WS], e[PLACE], 0)
  space[W_DUE] = space[W_DUE] + 1
end
local function enterLater(e, space)
  e[PLACE] = false
  rank('later:' .. e[WS], e[ID], e[DUE])
  space[W_LATER] = space[W_LATER] + 1
end
local function leavePlace(e, space)
  if e[PLACE] then
    rank('due:' .. e[WS], e[PLACE], false)
    space[W_DUE] = space[W_DUE] - 1
  else
    rank('later:' .. e[WS], e[ID], false)
    space[W_LATER] = space[W_LATER] - 1
  end
  e[PLACE] = false
end

local function indexWaiting(e, space)
  begun[#begun + 1] = e[ID]
  if e[EXPIRES] then rank('expiring', e[ID], e[ADMITTED]) end
  if isDueAtOnce(e) then enterDue(e, space) else enterLater(e, space) end
end
local function unindexWaiting(e, space)
  if e[EXPIRES] then rank('expiring', e[ID], false) end
  leavePlace(e, space)
end

local function remove(ids, id)
  for i, other in ipairs(ids) do if other == id then return table.remove(ids, i) end end
end

-- The indexes and counters of a status that an entry leaves and enters; `from` or `to` is nil for one that is new or forgotten.
local function reindex(e, from, to)
  local id = e[ID]
  if from then add(from, -1) end
  if to then add(to, 1) end
  if ACTIVE[to] and not ACTIVE[from] then activate(e) end
  if ACTIVE[from] and not ACTIVE[to] then deactivate(e) end
  if from == 'waiting' or to == 'waiting' or OUT[from] ~= OUT[to] then
    local space = workspace(e[WS])
    if from == 'waiting' then unindexWaiting(e, space) end
    if to == 'waiting' then indexWaiting(e, space) end
    if OUT[to] and not OUT[from] then table.insert(space[W_OUT], id) end
    if OUT[from] and not OUT[to] then remove(space[W_OUT], id) end
    keepWorkspace(e[WS], space)
  end
  if from and not ACTIVE[from] then rank('ended', id, false) end
  if to and not ACTIVE[to] then rank('ended', id, e[ADMITTED]) end
end

-- Moves an entry to a status. What it waits by may change before, unless it is waiting.
local function move(e, to)
  local from = e[STATUS]
  -- Before its status changes: a record that is made anew then has it where the indexes have it.
  if from == 'waiting' or to == 'waiting' or OUT[from] ~= OUT[to] then workspace(e[WS]) end
  e[STATUS] = to
  reindex(e, from, to)
  save(e)
end

-- Changes places of an entry, also those that it is waiting by; it stays where it is.
local function amend(e, fields)
  local space = e[STATUS] == 'waiting' and workspace(e[WS])
  if space then unindexWaiting(e, space) end
  for field, value in pairs(fields) do e[field] = value end
  if space then
    indexWaiting(e, space)
    keepWorkspace(e[WS], space)
  end
  save(e)
end

-- The entry, if the worker with this token still holds it.
local function held(id, token)
  local e = load(id)
  return e and e[STATUS] == 'running' and e[TOKEN] == token and e
end

local function saveDetail(e, detail) keep(details, e[ID], detail) end
local function joined(events, more) return events == '' and more or events .. '\n' .. more end

-- The branch that the change is to be merged into, or false.
local function baseOf(detail)
  local readable, row = pcall(cjson.decode, detail[CHANGE])
  local base = readable and type(row) == 'table' and row[BASE_REF]
  return base ~= cjson.null and base
end
local function haveSameBase(one, other)
  local before, now = baseOf(one), baseOf(other)
  return not before or not now or before == now
end

-- What a later entry takes over from an earlier one, besides its due time and who asked.
local function inherited(e, earlier)
  return {
    [PRIO] = math.min(e[PRIO], earlier[PRIO]),
    [ADMITTED] = math.min(e[ADMITTED], earlier[ADMITTED]),
    [EXPIRES] = e[EXPIRES] and earlier[EXPIRES]
  }
end

-- A running entry ends, or waits again.
local function leaveWorker(e, to, reason)
  e[REASON], e[OWNER], e[LEASE], e[CANCEL] = reason, false, false, false
  move(e, to)
end

-- A running entry would wait again: unless it is to be cancelled, or a newer one waits, which answers for its events then.
local function waitAgain(e, due, reason)
  if e[CANCEL] then return leaveWorker(e, 'cancelled', e[CANCEL]) end
  local newer = nextOf(e[TARGET])
  if not newer then
    e[DUE] = due
    return leaveWorker(e, 'waiting', reason)
  end
  local old, new = detailOf(e), detailOf(newer)
  local mine = old[EVENTS]
  new[PERSON] = new[PERSON] or old[PERSON]
  new[EVENTS] = joined(new[EVENTS], mine)
  old[EVENTS] = ''
  saveDetail(e, old)
  saveDetail(newer, new)
  leaveWorker(e, 'superseded', reason .. '; a newer review waits')
  amend(newer, inherited(newer, e))
  for event in string.gmatch(mine, '[^\n]+') do put(events, event, newer[ID]) end
end

-- waiting or ready -> cancelled; a running one is asked to end. Answers `ended` or `stopping`, or nil.
local function cancel(e, reason)
  if not e or not ACTIVE[e[STATUS]] then return nil end
  if e[STATUS] ~= 'running' then
    e[REASON] = reason
    move(e, 'cancelled')
    return 'ended'
  end
  if not e[CANCEL] then
    e[CANCEL] = reason
    save(e)
  end
  return 'stopping'
end

-- The entry as it is now, as answers have it; and its id, for those who cannot read it.
local function whole(e) return { packed(entries, e[ID]), packed(details, e[ID]), e[ID] } end

-- So many of what began to wait get their place in `waiting`, if they still do. Answers whether there may be more.
local function settle(most)
  local ids = call('LRANGE', P .. 'begun', 0, most - 1)
  fetch(entries, ids)
  for _, id in ipairs(ids) do
    local e = load(id)
    if e and e[STATUS] == 'waiting' then rank('waiting', id, e[ADMITTED]) end
  end
  if #ids > 0 then call('LTRIM', P .. 'begun', #ids, -1) end
  flush()
  return #ids == most
end

local TRANSITIONS = {}
