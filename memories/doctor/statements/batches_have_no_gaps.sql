-- A user's batches follow each other from message 1 up to extracted_seq.
WITH ranges AS (
    SELECT end_user_id, first_seq, last_seq,
           lag(last_seq, 1, 0) OVER (PARTITION BY end_user_id ORDER BY first_seq) AS before
    FROM memories_batch)
SELECT u.id, u.id FROM accounts_enduser u
LEFT JOIN (SELECT end_user_id, max(last_seq) AS last,
                  bool_or(first_seq <> before + 1) AS gap
           FROM ranges GROUP BY end_user_id) b ON b.end_user_id = u.id
WHERE COALESCE(b.last, 0) <> u.extracted_seq OR b.gap
