--[[
  Appends a message behind the last one, with what belongs to it, or changes nothing. Messages that the writer does not know are no
  obstacle while they are few and none of them is about anything that the writer's decision depends on.
  KEYS: head, log, details, events. ARGV: the last sequence that the writer knows, its id, id of the message, rows, scope, whether the writer
  must know all messages; then five lists, each behind its length: new events; details as pairs; details to remove; events as pairs; events
  to remove.
  Returns 1, the sequence and the messages that the writer missed; or 0 and these; or 2 and the entries of the new events, false for those
  that are new.
]]
local KNOWN, KNOWN_ID, ID, ROWS, SCOPE, STRICT, LISTS = 1, 2, 3, 4, 5, 6, 7
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
-- Fields of a message: id, after, scope, rows, each behind its name.
local function isIndependent(missed)
  if ARGV[STRICT] == '1' or #missed == 0 or #missed > MISSED_AT_MOST or missed[1][2][4] ~= ARGV[KNOWN_ID] then return false end
  local mine = {}
  for word in string.gmatch(ARGV[SCOPE], '%S+') do mine[word] = true end
  for _, message in ipairs(missed) do
    for word in string.gmatch(message[2][6], '%S+') do if mine[word] then return false end end
  end
  return true
end

local head, missed = redis.call('GET', KEYS[1]) or '0 ', {}
if head ~= ARGV[KNOWN] .. ' ' .. ARGV[KNOWN_ID] then
  missed = redis.call('XRANGE', KEYS[2], '(' .. ARGV[KNOWN] .. '-0', '+', 'COUNT', MISSED_AT_MOST + 1)
  if not isIndependent(missed) then return { 0, missed } end
end
local first, final = list()
local found, known = {}, false
for event = first, final do
  local entry = redis.call('HGET', KEYS[4], ARGV[event])
  found[#found + 1] = entry
  known = known or entry
end
if known then return { 2, found } end
local last, after = string.match(head, '^(%d+) (.*)$')
local sequence = string.format('%d', last + 1)
redis.call('XADD', KEYS[2], sequence .. '-0', 'id', ARGV[ID], 'after', after, 'scope', ARGV[SCOPE], 'rows', ARGV[ROWS])
redis.call('SET', KEYS[1], sequence .. ' ' .. ARGV[ID])
send('HSET', KEYS[3], list())
send('HDEL', KEYS[3], list())
send('HSET', KEYS[4], list())
send('HDEL', KEYS[4], list())
return { 1, sequence, missed }
