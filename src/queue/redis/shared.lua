--[[
  What the script starts with, before the transitions. An entry is `e:<id>`, a packed table of strings in
  which what is undefined is not there, and `c:<id>`, its change as JSON, which no decision looks into. All else is index:

    events     HASH  event id -> entry id, also of ended entries
    next       HASH  target -> the entry that waits or is ready; at most one
    running    HASH  target -> the entry that runs; at most one
    counts     HASH  status -> how many
    pending    HASH  workspace -> how many wait or are ready
    active     HASH  workspace -> how many wait, are ready or run
    out:<w>    HASH  ready and running ones of a workspace -> what a survey shows of them, packed
    later:<w>  ZSET  waiting ones by due time, until a survey finds them due
    lanes:<w>  ZSET  `<priority>:<repository>` by priority
    lane:<w>:<priority>:<repository>  ZSET  waiting and due ones by admission
    waiting    ZSET  waiting ones by admission; `expiring` those of them that may expire
    ended      ZSET  ended ones by admission
    ids        ZSET  all, in the order of their ids
    pauses     HASH  `<scope>:<name>` -> JSON

  All keys start with KEYS[1], which holds a hash tag: they are in one slot of a cluster. A script runs alone and whole, so each
  transition in it is atomic; with an append-only file that is synced always, what was answered is on disk.
]]
local P = KEYS[1]
local call = redis.call

local function key(id) return P .. 'e:' .. id end

local PENDING = { waiting = true, ready = true }
local OUT = { ready = true, running = true }
local ACTIVE = { waiting = true, ready = true, running = true }

-- The entry, or nil when there is none.
local function load(id)
  local packed = id and call('GET', key(id))
  if not packed then return nil end
  local e = cmsgpack.unpack(packed)
  e.id = id
  return e
end

local function save(e)
  local id = e.id
  e.id = nil
  call('SET', key(id), cmsgpack.pack(e))
  e.id = id
end

-- Sets fields and takes away those whose value is false.
local function set(e, fields)
  for name, value in pairs(fields) do e[name] = value or nil end
  save(e)
end

-- Counters are summed up here and written once, when the script ends (run.lua).
local sums = { counts = {}, pending = {}, active = {} }
local function add(name, field, by)
  local sum = sums[name]
  sum[field] = (sum[field] or 0) + by
end
local read = { counts = {}, pending = {}, active = {} }
local function count(name, field)
  local before = read[name][field]
  if not before then
    before = tonumber(call('HGET', P .. name, field) or 0)
    read[name][field] = before
  end
  return before + (sums[name][field] or 0)
end

local function lane(e) return e.prio .. ':' .. e.repo end

local known = {}
local function toLane(e)
  local name = lane(e)
  call('ZADD', P .. 'lane:' .. e.ws .. ':' .. name, e.admitted, e.id)
  if not known[e.ws .. ' ' .. name] then
    known[e.ws .. ' ' .. name] = true
    call('ZADD', P .. 'lanes:' .. e.ws, e.prio, name)
  end
end

local function indexWaiting(e)
  call('ZADD', P .. 'waiting', e.admitted, e.id)
  if e.expires == '1' then call('ZADD', P .. 'expiring', e.admitted, e.id) end
  if tonumber(e.due) <= tonumber(e.admitted) then toLane(e) else call('ZADD', P .. 'later:' .. e.ws, e.due, e.id) end
end

local function unindexWaiting(e)
  call('ZREM', P .. 'waiting', e.id)
  if e.expires == '1' then call('ZREM', P .. 'expiring', e.id) end
  if call('ZREM', P .. 'lane:' .. e.ws .. ':' .. lane(e), e.id) == 0 then call('ZREM', P .. 'later:' .. e.ws, e.id) end
end

-- What a survey shows of an entry.
local function light(e)
  return { e.id, e.status, e.target, e.repo, tonumber(e.prio), tonumber(e.admitted), tonumber(e.due) }
end
local function putOut(e) call('HSET', P .. 'out:' .. e.ws, e.id, cmsgpack.pack(light(e))) end

-- The indexes and counters of a status that an entry leaves and enters, besides those of waiting; `from` or `to` is nil for one that is
-- new or forgotten.
local function reindex(e, from, to)
  if from then add('counts', from, -1) end
  if to then add('counts', to, 1) end
  if PENDING[from] ~= PENDING[to] then
    add('pending', e.ws, PENDING[to] and 1 or -1)
    if PENDING[to] then call('HSET', P .. 'next', e.target, e.id) else call('HDEL', P .. 'next', e.target) end
  end
  if from == 'running' then call('HDEL', P .. 'running', e.target) end
  if to == 'running' then call('HSET', P .. 'running', e.target, e.id) end
  if OUT[to] then putOut(e) elseif OUT[from] then call('HDEL', P .. 'out:' .. e.ws, e.id) end
  if ACTIVE[from] ~= ACTIVE[to] then add('active', e.ws, ACTIVE[to] and 1 or -1) end
  if from and not ACTIVE[from] then call('ZREM', P .. 'ended', e.id) end
  if to and not ACTIVE[to] then call('ZADD', P .. 'ended', e.admitted, e.id) end
end

-- Moves an entry to a status, with fields that change at the same time.
local function move(e, to, fields)
  local from = e.status
  if from == 'waiting' then unindexWaiting(e) end
  fields.status = to
  set(e, fields)
  reindex(e, from, to)
  if to == 'waiting' then indexWaiting(e) end
end

-- Changes what an entry is waiting by; it stays where it is.
local function amend(e, fields)
  local waits = e.status == 'waiting'
  if waits then unindexWaiting(e) end
  set(e, fields)
  if waits then indexWaiting(e) elseif OUT[e.status] then putOut(e) end
end

local function nextOf(target) return load(call('HGET', P .. 'next', target)) end
local function runningOf(target) return load(call('HGET', P .. 'running', target)) end

-- `id token` of a worker that still holds the entry, or nil.
local function held(id, token)
  local e = load(id)
  if e and e.status == 'running' and e.token == token then return e end
  return nil
end

local function least(a, b) if tonumber(b) < tonumber(a) then return b end return a end

-- What a later entry takes over from an earlier one, besides its due time.
local function inherited(e, earlier)
  return {
    person = e.person or earlier.person or false,
    prio = least(e.prio, earlier.prio),
    admitted = least(e.admitted, earlier.admitted),
    expires = (e.expires == '1' and earlier.expires == '1') and '1' or '0'
  }
end

local GONE = { owner = false, lease = false, cancel = false }
local function ending(fields)
  for name, value in pairs(GONE) do fields[name] = value end
  return fields
end

-- A running entry would wait again: unless it is to be cancelled, or a newer one waits, which answers for its events then.
local function waitAgain(e, due, reason, fields)
  if e.cancel then
    fields.reason = e.cancel
    return move(e, 'cancelled', ending(fields))
  end
  local newer = nextOf(e.target)
  if not newer then
    fields.reason = reason
    fields.due = due
    return move(e, 'waiting', ending(fields))
  end
  local events = e.events or ''
  fields.reason = reason .. '; a newer review waits'
  fields.events = false
  local taken = inherited(newer, e)
  move(e, 'superseded', ending(fields))
  taken.events = newer.events .. '\n' .. events
  amend(newer, taken)
  for event in string.gmatch(events, '[^\n]+') do call('HSET', P .. 'events', event, newer.id) end
end

-- waiting or ready -> cancelled; a running one is asked to end. Answers `ended` or `stopping`, or nil.
local function cancel(e, reason)
  if not e or not ACTIVE[e.status] then return nil end
  if e.status ~= 'running' then
    move(e, 'cancelled', { reason = reason })
    return 'ended'
  end
  if not e.cancel then set(e, { cancel = reason }) end
  return 'stopping'
end

local function changeKey(id) return P .. 'c:' .. id end

-- The entry with all its fields, flat, as answers have it.
local function whole(e)
  local fields = { 'change', call('GET', changeKey(e.id)) }
  for name, value in pairs(e) do
    fields[#fields + 1] = name
    fields[#fields + 1] = value
  end
  return { e.id, fields }
end

local TRANSITIONS = {}
