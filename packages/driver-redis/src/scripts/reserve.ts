/**
 * Claims jobs that are due: the queues in the order given, the highest level first; within a level first the one whose
 * claim expired earliest, which ends the batch before it or is all of it, then those in its stream.
 *
 * Words: 1 now, 2 the deadline of the claims, 3 the worker, 4 how many jobs at most, 5 `more` where the caller has claimed
 * some already. Answers with four lists:
 * - the jobs, nine words each: queue, priority, id, entry, name, payload, attempts, max attempts, `reclaimed` or nothing;
 * - of queues with levels that the script was not given, or with many fewer: name, number of levels, levels;
 * - one word: `queue <number>` where it stopped before a queue with levels that it was not given, `batch` where it stopped
 *   because of a claim that had expired, else nothing;
 * - ids that no JavaScript number can hold: found now, and left alone from now on.
 */
export const RESERVE = `
local now, deadline, worker, limit, isMore = word(1), word(2), word(3), tonumber(word(4)), word(5) == 'more'
-- How many jobs one call promotes from a level's delayed ones: enough to keep up, and no more than it takes long.
local PROMOTED = math.max(100, limit)
local jobs, count, levelsOf, stranded = {}, 0, {}, {}

local function give(level, id, state, job, isReclaimed)
  state.attempts, state.worker = whole(state.attempts + 1), worker
  writeState(id, state)
  call('ZADD', level.claims, deadline, id)
  for _, value in ipairs({ level.queue.name, level.priority, id, state.entry, job.name, job.payload, state.attempts,
    job.max, isReclaimed and 'reclaimed' or '' }) do
    jobs[#jobs + 1] = value
  end
  count = count + 1
end

-- What became due goes behind what is due already.
local function promote(level)
  for _, id in ipairs(call('ZRANGEBYSCORE', level.delayed, '-inf', now, 'LIMIT', 0, PROMOTED)) do
    local state = readState(id)
    -- One that has an entry was promoted already, or is claimed still: whatever moved it ended in the middle.
    if state and state.entry == '' and call('HEXISTS', JOBS, id .. ':text') == 1 then
      state.entry = call('XADD', level.ready, '*', 'id', id)
      writeState(id, state)
    end
    call('ZREM', level.delayed, id)
  end
end

-- True: the batch ends here.
local function takeOver(level)
  while true do
    local id = call('ZRANGEBYSCORE', level.claims, '-inf', now, 'LIMIT', 0, 1)[1]
    if not id then return false end
    local state = readState(id)
    local job = state and readJob(level, id, state.entry)
    if job and state.entry ~= '' then
      if count == 0 and not isMore then give(level, id, state, job, true) end
      return true
    elseif job then
      -- It was released already; whatever released it ended in the middle.
      call('ZADD', level.delayed, state.due, id)
      call('ZREM', level.claims, id)
    else
      -- Somebody has deleted its entry: there is nothing to run any more.
      drop(level, id, state or { unique = '', entry = '' })
    end
  end
end

local function readNew(level, most)
  local command = { 'XREADGROUP', 'GROUP', GROUP, CONSUMER, 'NOACK', 'COUNT', most, 'STREAMS', level.ready, '>' }
  local read = redis.pcall(unpack(command))
  if read and read.err then
    -- No group yet, or no longer. From the start: what is claimed is passed over, what is done is not there.
    redis.pcall('XGROUP', 'CREATE', level.ready, GROUP, '0')
    read = call(unpack(command))
  end
  return read and read[1][2] or {}
end

-- Held for ever, by nobody: it is neither handed out nor counted.
local function strand(level, entry, id)
  call('ZADD', level.claims, '+inf', entry)
  stranded[#stranded + 1] = id
end

-- Where somebody has deleted a stranded entry, nothing is to be held any more.
local function letGo(level)
  if call('ZCARD', level.claims) <= call('XLEN', level.ready) then return end
  for _, entry in ipairs(call('ZRANGEBYSCORE', level.claims, '+inf', '+inf')) do
    if #call('XRANGE', level.ready, entry, entry) == 0 then call('ZREM', level.claims, entry) end
  end
end

-- An entry written by another hand, without an id, gets one.
local function adopt(level, entry, fields)
  if fields.name and fields.payload then
    local first = takeIds(1, now)
    if not first then return strand(level, entry, '') end
    call('XADD', level.ready, '*', 'id', whole(first), 'name', fields.name, 'payload', fields.payload,
      'max_attempts', jobOf(fields).max, 'unique_key', '', 'created_at', now)
  end
  call('XDEL', level.ready, entry)
end

local function isId(text)
  local id = string.match(text, '^%d+$') and tonumber(text)
  return id and id <= LARGEST_ID and whole(id) == text
end

local function takeNew(level, entry, fields)
  local id = fields.id
  if not id then return adopt(level, entry, fields) end
  if not isId(id) then return strand(level, entry, id) end
  local state = readState(id)
  if state and state.entry == entry and call('ZSCORE', level.claims, id) then return end
  local isThere = not state or state.entry == entry
  local job = isThere and (fields.payload and jobOf(fields) or state and readJob(level, id, entry))
  if not job then return call('XDEL', level.ready, entry) end
  give(level, id, state or { attempts = 0, entry = entry, due = job.created, unique = job.unique }, job, false)
end

local function claimNew(level)
  local isReadAgain = false
  while count < limit do
    local entries = readNew(level, limit - count)
    if #entries == 0 then
      -- Then every entry is a claimed one. If not, one was read and not claimed, or a claim was deleted: read them again.
      if isReadAgain or call('XLEN', level.ready) <= call('ZCARD', level.claims) then return end
      call('XGROUP', 'SETID', level.ready, GROUP, '0')
      isReadAgain = true
    end
    for _, entry in ipairs(entries) do takeNew(level, entry[1], pairsIn(entry[2])) end
  end
end

-- True: the batch ends here, or is full.
local function claimFrom(level)
  promote(level)
  if takeOver(level) then return true end
  if call('XLEN', level.ready) > 0 then claimNew(level) end
  if count == 0 then
    letGo(level)
    retire(level)
  end
  return count >= limit
end

-- Whoever got all that it asked for wakes the next one, if there is more.
local function passOn(queue, levels)
  for _, priority in ipairs(levels) do
    local level = queue.known[priority]
    if call('XLEN', level.ready) > call('ZCARD', level.claims) then return ring(queue) end
  end
end

local function levelsIn(queue)
  local levels, isKnown, passed = call('ZREVRANGE', queue.levels, 0, -1), true, 0
  for _ in pairs(queue.known) do passed = passed + 1 end
  for _, priority in ipairs(levels) do isKnown = isKnown and queue.known[priority] ~= nil end
  if not isKnown or passed > #levels + 32 then
    levelsOf[#levelsOf + 1] = queue.name
    levelsOf[#levelsOf + 1] = whole(#levels)
    for _, priority in ipairs(levels) do levelsOf[#levelsOf + 1] = priority end
  end
  return levels, isKnown
end

for n, queue in ipairs(queues) do
  local levels, isKnown = levelsIn(queue)
  if not isKnown then return { jobs, levelsOf, { 'queue ' .. whole(n) }, stranded } end
  if #levels > 0 then insist() end
  for _, priority in ipairs(levels) do
    if claimFrom(queue.known[priority]) then
      passOn(queue, levels)
      return { jobs, levelsOf, { count < limit and 'batch' or '' }, stranded }
    end
  end
end
return { jobs, levelsOf, { '' }, stranded }
`;
