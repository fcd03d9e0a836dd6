//! The tests of the library, as one program: separate programs would each compile its generic code, and optimized.

mod validator;
