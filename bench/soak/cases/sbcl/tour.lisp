;;; Foreign lists and strings, closures compiled at run time, threads, conditions and collections.
(defpackage :tour (:use :cl :sb-alien))
(in-package :tour)

(define-alien-type nil (struct link (next (* (struct link))) (value long) (text (* char))))
(defvar *rounds* (parse-integer (second sb-ext:*posix-argv*)))

(defun make-list-of (count seed)
  (let ((head nil))
    (dotimes (i count head)
      (let ((link (make-alien (struct link))))
        (setf seed (mod (+ (* seed 1103515245) 12345) 2147483648)
              (slot link 'value) (mod seed 10007)
              (slot link 'text) (values (make-alien-string (format nil "~36r" seed)))
              (slot link 'next) (or head (sap-alien (sb-sys:int-sap 0) (* (struct link))))
              head link)))))

(defun next-of (link)
  (let ((next (slot link 'next)))
    (unless (null-alien next) next)))

(defun sum-of (list)
  (loop for link = list then (next-of link) while link
        for sum = (slot link 'value) then (mod (+ (* sum 31) (slot link 'value)) 1000000007)
        do (incf sum (length (cast (slot link 'text) c-string)))
        finally (return sum)))

(defun free-list-of (list)
  (loop while list
        do (let ((next (next-of list)))
             (free-alien (slot list 'text))
             (free-alien list)
             (setf list next))))

(defun table-of (count)
  (let ((table (make-hash-table :test #'equal)))
    (dotimes (i count) (push i (gethash (format nil "~r" (mod (* i i) 211)) table)))
    (sort (loop for key being the hash-keys of table using (hash-value all)
                collect (list key (reduce #'+ all)))
          #'string< :key #'first)))

(defun compiled (n)
  (funcall (compile nil `(lambda (x) (loop for i below ,n sum (* x i (if (oddp i) 1 -1))))) n))

(dotimes (round *rounds*)
  (let ((list (make-list-of 3000 round)))
    (format t "~a ~a~%" round (sum-of list))
    (sb-ext:gc :full (zerop (mod round 10)))
    (format t "~a~%" (sum-of list))
    (free-list-of list))
  (format t "~a~%" (sxhash (format nil "~a" (table-of 2000))))
  (format t "~a~%" (compiled (+ 10 round)))
  (format t "~a~%" (handler-case (parse-integer (format nil "x~a" round))
                     (error (condition) (princ-to-string (type-of condition)))))
  (format t "~a~%" (loop for i below 200 collect (catch 'out (dotimes (k 9) (when (= k (mod i 7)) (throw 'out k))))))
  (format t "~a~%" (mod (reduce #'* (loop for i from 1 below 400 collect i)) (expt 7 301)))
  #+sb-thread
  (let ((threads (loop for n below 4
                       collect (let ((n n))
                                 (sb-thread:make-thread
                                  (lambda ()
                                    (let* ((list (make-list-of 1000 (+ n round))) (sum (sum-of list)))
                                      (free-list-of list)
                                      sum)))))))
    (format t "~a~%" (mapcar #'sb-thread:join-thread threads))))
