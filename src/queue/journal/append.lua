--[[
  Appends a message behind the last one, with what belongs to it, or changes nothing. Messages that the writer does not know are no
  obstacle while they are few and none of them is about anything that the writer's decision depends on.
  KEYS: log, snapshot, last, details. ARGV: the last position that the writer knows, id of the message, rows, scope, whether the writer must know
  all messages; then two lists, each behind its length: details as pairs; details to remove.
  Returns 1, the sequence and the messages that the writer missed; or 0 and these.
]]
local KNOWN, ID, ROWS, SCOPE, STRICT, LISTS = 1, 2, 3, 4, 5, 6
local MISSED_AT_MOST = 50
local at = LISTS
local function list()
  local from = at + 1
  at = from + tonumber(ARGV[at])
  return from, at - 1
end
-- In chunks of an even size: Lua passes less than 8000 values.
local function send(command, key, from, to)
  for first = from, to, 2000 do redis.call(command, key, unpack(ARGV, first, math.min(first + 1999, to))) end
end
local function fieldsOf(message)
  local fields = {}
  for place = 1, #message[2], 2 do fields[message[2][place]] = message[2][place + 1] end
  return fields
end
-- A damaged message may be about anything.
local function isIndependent(missed)
  if ARGV[STRICT] == '1' or #missed == 0 or #missed > MISSED_AT_MOST then return false end
  local mine, before = {}, ARGV[KNOWN]
  for word in string.gmatch(ARGV[SCOPE], '%S+') do mine[word] = true end
  for _, message in ipairs(missed) do
    local fields = fieldsOf(message)
    if fields.after ~= before or not fields.scope then return false end
    for word in string.gmatch(fields.scope, '%S+') do if mine[word] then return false end end
    before = message[1]
  end
  return true
end

local last, missed = lastOf(KEYS[1], KEYS[2], KEYS[3]), {}
if last ~= ARGV[KNOWN] then
  missed = redis.call('XRANGE', KEYS[1], '(' .. ARGV[KNOWN], '+', 'COUNT', MISSED_AT_MOST + 1)
  if not isIndependent(missed) then return { 0, missed } end
end
local sequence = string.format('%d', string.match(last, '^%d+') + 1)
-- The message is the last write: a key of another type fails one of these, and nothing that was written before it counts without the message.
send('HSET', KEYS[4], list())
send('HDEL', KEYS[4], list())
local position = sequence .. '-' .. ARGV[ID]
local added = redis.pcall('XADD', KEYS[1], position, 'after', last, 'scope', ARGV[SCOPE], 'rows', ARGV[ROWS])
if type(added) == 'table' and added.err then
  if not string.find(added.err, 'equal or smaller') then return added end
  -- Another program has written the log: the position is read from the log again.
  redis.call('DEL', KEYS[3])
  return { 0, redis.call('XRANGE', KEYS[1], '(' .. ARGV[KNOWN], '+', 'COUNT', MISSED_AT_MOST + 1) }
end
redis.call('SET', KEYS[3], position)
return { 1, sequence, missed }
