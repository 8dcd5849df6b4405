--[[
  What the script starts with: what it has read and what it is to write. Transitions read and write here; Redis sees what changed when
  the script ends (flush), one command for all of a kind. So a transition that fails has written nothing.
]]
local P = KEYS[1]
local call, pack = redis.call, cmsgpack.pack

-- Values of one command; Lua passes less than 8000.
local MOST = 2000

-- A hash: `known`, what its fields hold, false for those that are not there; `written`, the fields that change, some of them twice.
local hashes = {}
local function hash(name)
  local h = { key = P .. name, known = {}, written = {} }
  hashes[#hashes + 1] = h
  return h
end

-- A hash of packed arrays of one size: `tables` has those that were looked at. One that was written is packed when that is asked for.
local function records(name, size)
  local h = { key = P .. name, known = {}, written = {}, size = size, tables = {} }
  hashes[#hashes + 1] = h
  return h
end

-- Reads fields that are not known, in one command.
local function fetch(h, fields)
  if #fields == 0 then return end
  local known, asked, n = h.known, {}, 0
  for i = 1, #fields do
    local field = fields[i]
    if known[field] == nil then
      known[field] = false
      n = n + 1
      asked[n] = field
    end
  end
  for from = 1, n, MOST do
    local found = call('HMGET', h.key, unpack(asked, from, math.min(from + MOST - 1, n)))
    for i = 1, #found do known[asked[from + i - 1]] = found[i] end
  end
end

local function get(h, field)
  local value = h.known[field]
  if value == nil then
    value = call('HGET', h.key, field)
    h.known[field] = value
  end
  return value
end

-- False takes the field away.
local function put(h, field, value)
  h.known[field] = value
  h.written[#h.written + 1] = field
end

-- A packed array of so many values. As results that are put into a table at once they cost two thirds of what unpacking a table does.
local function rest(_, ...) return { ... } end
local function unpacked(packed, size)
  local record = rest(cmsgpack.unpack_limit(packed, size, size < 16 and 1 or 3))
  if #record ~= size then error('a record of ' .. #record .. ' values, not ' .. size) end
  return record
end

-- A record, or false when there is none.
local function look(h, field)
  local record = h.tables[field]
  if record == nil then
    local packed = get(h, field)
    record = packed and unpacked(packed, h.size)
    h.tables[field] = record
  end
  return record
end

local STALE = true
local function keep(h, field, record)
  h.tables[field] = record
  if not record or h.known[field] ~= STALE then put(h, field, record and STALE) end
end

-- One that is packed already.
local function keepPacked(h, field, record, text)
  h.tables[field] = record
  put(h, field, text)
end

local function packed(h, field)
  local value = get(h, field)
  if value == STALE then
    value = pack(h.tables[field])
    h.known[field] = value
  end
  return value
end

-- Sorted sets: of each key the members that change, with their score, or false.
local sets = {}
local function rank(name, member, score)
  local set = sets[name]
  if not set then
    set = {}
    sets[name] = set
  end
  set[member] = score
end

local function send(command, key, values)
  for from = 1, #values, MOST do call(command, key, unpack(values, from, math.min(from + MOST - 1, #values))) end
end

-- Values that are set, and what is taken away.
local function change(key, set, clear, some, gone)
  send(set, key, some)
  send(clear, key, gone)
end

-- As text: Redis writes numbers that scripts give it as if they had a fraction, which takes longer than what it does with them.
local function integer(number) return number == 0 and '0' or string.format('%d', number) end

local function flush()
  for _, h in ipairs(hashes) do
    local written = h.written
    if written[1] then
      local some, n, gone = {}, 0, {}
      for i = 1, #written do
        local field = written[i]
        local value = packed(h, field)
        if value then
          some[n + 1], some[n + 2] = field, value
          n = n + 2
        else
          gone[#gone + 1] = field
        end
      end
      h.written = {}
      change(h.key, 'HSET', 'HDEL', some, gone)
    end
  end
  for name, set in pairs(sets) do
    local some, n, gone = {}, 0, {}
    for member, score in pairs(set) do
      if score then
        some[n + 1], some[n + 2] = integer(score), member
        n = n + 2
      else
        gone[#gone + 1] = member
      end
    end
    change(P .. name, 'ZADD', 'ZREM', some, gone)
  end
  sets = {}
end

-- Forgets what was not sent, and all that was read.
local function discard()
  for _, h in ipairs(hashes) do
    h.known, h.written = {}, {}
    h.tables = h.tables and {}
  end
  sets = {}
end
